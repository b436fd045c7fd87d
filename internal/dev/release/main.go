// Command release prepares a release. It sets the version in which the modules of this repository require each other,
// moves the unreleased changes in CHANGELOG.md under a heading, and prints the tags to set. `make release
// VERSION=v0.1.0` runs it and all checks.
//
// Within the repository, a replace in each go.mod substitutes the folder for this version. A replace only counts in
// the main module, so other modules get the version.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
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

// pack writes the released modules to a folder in the layout of a module proxy, for GOPROXY=file://folder.
func pack(root, folder, version string) error {
	modules, err := readModules(root)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if m.isReleased() {
			if err := packModule(m, root, folder, version); err != nil {
				return err
			}
		}
	}
	return nil
}

// packModule writes a module's list of versions, and the info, go.mod and zip files of the version.
func packModule(m moduleFile, root, folder, version string) error {
	escaped, err := module.EscapePath(m.path)
	if err != nil {
		return err
	}
	versions := filepath.Join(folder, filepath.FromSlash(escaped), "@v")
	if err := os.MkdirAll(versions, 0o750); err != nil {
		return err
	}
	info, err := json.Marshal(struct {
		Version string    `json:"Version"`
		Time    time.Time `json:"Time"`
	}{version, time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	source := filepath.Join(root, m.folder)
	goMod, err := os.ReadFile(filepath.Join(source, "go.mod")) //nolint:gosec // A file of the repository.
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": goMod} {
		if err := os.WriteFile(filepath.Join(versions, name), content, 0o600); err != nil {
			return err
		}
	}
	archive, err := os.Create(filepath.Join(versions, version+".zip")) //nolint:gosec // In the folder that is written.
	if err != nil {
		return err
	}
	err = modzip.CreateFromDir(archive, module.Version{Path: m.path, Version: version}, source)
	return errors.Join(err, archive.Close())
}

// unreleased is the heading of changes after the last release.
const unreleased = "## [Unreleased]\n"

// withHeading moves the unreleased changes of a changelog under a new heading with a version and date.
func withHeading(changelog, version string, now time.Time) (string, error) {
	before, after, isThere := strings.Cut(changelog, unreleased)
	number := strings.TrimPrefix(version, "v")
	changes, _, _ := strings.Cut(after, "\n## ")
	switch {
	case !isThere:
		return "", fmt.Errorf("CHANGELOG.md has no heading %q", strings.TrimSpace(unreleased))
	case strings.Contains(changelog, "## ["+number+"]"):
		return "", fmt.Errorf("CHANGELOG.md already has version %s", version)
	case strings.TrimSpace(changes) == "":
		return "", fmt.Errorf("CHANGELOG.md has nothing about %s: write the changes under %q", version, strings.TrimSpace(unreleased))
	}
	return fmt.Sprintf("%s%s\n## [%s] - %s\n%s", before, unreleased, number, now.Format(time.DateOnly), after), nil
}
