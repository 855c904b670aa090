// Package misplaced has its comment where it belongs, and another one elsewhere.
package misplaced
