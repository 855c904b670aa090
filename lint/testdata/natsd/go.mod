module github.com/natsd/natsd

go 1.26.0
