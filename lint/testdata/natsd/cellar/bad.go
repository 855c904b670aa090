package cellar // want `package github.com/natsd/natsd/cellar is in no room`
