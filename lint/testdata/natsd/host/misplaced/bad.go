// Package misplaced is described twice.
package misplaced // want `style: the package comment belongs in doc.go`
