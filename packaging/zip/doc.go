// Command zip writes a directory as a zip archive to standard output, the same bytes for the same files: zip DIRECTORY TIME,
// where the time, in seconds since 1970, is that of all entries.
package main
