// Command release prepares a release. It sets the version in which the modules of this repository require each other,
// moves the unreleased changes in CHANGELOG.md under a heading, and prints the tags to set. `make release
// VERSION=v0.1.0` runs it and all checks.
//
// Within the repository, a replace in each go.mod substitutes the folder for this version. A replace only counts in
// the main module, so other modules get the version.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	root := flag.String("root", "../..", "the folder of the repository")
	version := flag.String("version", "", "the version to release, such as v0.1.0")
	onlyTags := flag.Bool("tags", false, "only print the tags of the version, and change nothing")
	flag.Parse()
	tags, err := tagsOf(*root, *version)
	if err == nil && !*onlyTags {
		err = release(*root, *version, time.Now().UTC())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
	_, _ = fmt.Fprintln(os.Stdout, strings.Join(tags, "\n"))
}

// release writes the requires and the changelog of a version.
func release(root, version string, now time.Time) error {
	if err := checkVersion(version); err != nil {
		return err
	}
	changelog := filepath.Join(root, "CHANGELOG.md")
	text, err := os.ReadFile(changelog) //nolint:gosec // A file of the repository.
	if err != nil {
		return err
	}
	released, err := withHeading(string(text), version, now)
	if err != nil {
		return err
	}
	if err := setRequires(root, version); err != nil {
		return err
	}
	return os.WriteFile(changelog, []byte(released), 0o644) //nolint:gosec // The file is public.
}

// tagsOf returns the tags of a version, one for each released module. The tag of a module in a folder starts with the
// folder.
func tagsOf(root, version string) ([]string, error) {
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	modules, err := readModules(root)
	if err != nil {
		return nil, err
	}
	var tags []string
	for _, m := range modules {
		if m.isReleased() {
			tags = append(tags, filepath.ToSlash(filepath.Join(m.folder, version)))
		}
	}
	return tags, nil
}
