package main

import "errors"

func loadConfig(file string, s *settings) error {
	return errors.New("configuration files are not read yet")
}
