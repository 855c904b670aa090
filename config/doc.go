// Package config says what the keys of a configuration file mean: which there are at each level, their synonyms, types, units,
// ranges and defaults. Decode turns a tree of conf into a Config, or into every problem of the file at once, each with its
// place. A block whose feature is not built yet is read and checked like any other; whoever starts the server says so.
//
// Config holds what files say, in plain structs, each with the place it came from, so that the engine can complain later about
// a user or an import and still name file, line and column. Zero is "nothing was said", unless a field tells otherwise;
// defaults are those of the engine.
//
// The package opens no file and reads no environment: files that a configuration names (keys, certificates, credentials,
// operators) stay names.
package config
