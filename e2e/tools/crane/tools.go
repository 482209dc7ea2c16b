//go:build tools

// Package tools pins crane, which validates and copies images. It is built by `e2e/tests/release/crane.py`.
package tools

import _ "github.com/google/go-containerregistry/cmd/crane"
