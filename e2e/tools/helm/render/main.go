// Command render renders and lints many installations of one chart in one process, which bounds the time of a matrix.
//
// It reads {"chart": path, "cases": [Case, …]} from its input and writes one Result per case, as lines of JSON.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

// Case is one installation: values, and what the cluster would answer.
type Case struct {
	Name        string         `json:"name"`
	Namespace   string         `json:"namespace"`
	KubeVersion string         `json:"kubeVersion"`
	APIVersions []string       `json:"apiVersions"`
	Values      map[string]any `json:"values"`
	Lint        bool           `json:"lint"`
}

// Result holds the text of each template, or the error; and what lint has to say, warnings and worse.
type Result struct {
	Name  string            `json:"name"`
	Files map[string]string `json:"files"`
	Error string            `json:"error"`
	Lint  []string          `json:"lint"`
}

func main() {
	var asked struct {
		Chart string `json:"chart"`
		Cases []Case `json:"cases"`
	}
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		end(err)
	}
	loaded, err := loader.Load(asked.Chart)
	if err != nil {
		end(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, each := range asked.Cases {
		if err := out.Encode(resultOf(asked.Chart, loaded, each)); err != nil {
			end(err)
		}
	}
}

func resultOf(path string, loaded *chart.Chart, asked Case) Result {
	result := Result{Name: asked.Name, Lint: []string{}}
	files, err := rendered(loaded, asked)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	result.Files = files
	if asked.Lint {
		result.Lint = linted(path, asked)
	}
	return result
}

// rendered does what `helm template` does before it sorts the objects.
func rendered(loaded *chart.Chart, asked Case) (map[string]string, error) {
	version, err := chartutil.ParseKubeVersion(asked.KubeVersion)
	if err != nil {
		return nil, err
	}
	if wanted := loaded.Metadata.KubeVersion; wanted != "" && !chartutil.IsCompatibleRange(wanted, version.String()) {
		return nil, fmt.Errorf("chart requires kubeVersion: %s which is incompatible with Kubernetes %s", wanted, version)
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *version
	capabilities.APIVersions = append(capabilities.APIVersions, asked.APIVersions...)
	release := chartutil.ReleaseOptions{Name: "paddock", Namespace: asked.Namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(loaded, asked.Values, release, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(loaded, values)
}

func linted(path string, asked Case) []string {
	version, err := chartutil.ParseKubeVersion(asked.KubeVersion)
	if err != nil {
		return []string{err.Error()}
	}
	said := []string{}
	for _, each := range lint.AllWithKubeVersion(path, asked.Values, asked.Namespace, version).Messages {
		if each.Severity >= support.WarningSev {
			said = append(said, each.Error())
		}
	}
	return said
}

func end(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
