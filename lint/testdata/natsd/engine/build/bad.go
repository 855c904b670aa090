package build // want `D5: bad_windows.go is left out of this build` `D5: bad_amd64.s is not Go`
