package main

import (
	"archive/zip"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: zip DIRECTORY TIME")
		os.Exit(2)
	}
	if err := write(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "zip:", err)
		os.Exit(1)
	}
}

func write(w io.Writer, dir, seconds string) error {
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error { // in order of names
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		h := &zip.FileHeader{Name: filepath.ToSlash(name), Method: zip.Deflate, Modified: time.Unix(at, 0).UTC()}
		h.SetMode(info.Mode())
		entry, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		_, err = entry.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return z.Close()
}
