//go:build tools

// Package tools pins Helm, which renders and checks the chart; `e2e/programs/helm.py` builds it.
package tools

import _ "helm.sh/helm/v3/cmd/helm"
