package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/semver"
)

// core is the path of the root module. All other module paths start with it.
const core = "github.com/botctx/go-sdk"

type moduleFile struct {
	// folder is the folder of the module relative to the root, or "." for the core.
	folder string
	path   string
	file   *modfile.File
}

// isReleased reports whether other projects can import the module: it must not be an example or internal.
func (m moduleFile) isReleased() bool {
	top, _, _ := strings.Cut(filepath.ToSlash(m.folder), "/")
	return top != "examples" && top != "internal"
}

// ours returns the paths of the modules in this repository that the module requires.
func (m moduleFile) ours() []string {
	var paths []string
	for _, required := range m.file.Require {
		if isOurs(required.Mod.Path) {
			paths = append(paths, required.Mod.Path)
		}
	}
	return paths
}

func isOurs(path string) bool { return path == core || strings.HasPrefix(path, core+"/") }

// readModules returns the modules of the repository, sorted by folder.
func readModules(root string) ([]moduleFile, error) {
	var modules []moduleFile
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && isLeftOut(entry.Name()):
			return filepath.SkipDir
		case entry.IsDir() || entry.Name() != "go.mod":
			return nil
		}
		folder, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		file, err := readModule(path)
		if err == nil {
			modules = append(modules, moduleFile{folder: folder, path: file.Module.Mod.Path, file: file})
		}
		return err
	})
	slices.SortFunc(modules, func(a, b moduleFile) int { return strings.Compare(a.folder, b.folder) })
	return modules, err
}

// isLeftOut reports whether folders with this name contain none of the project's code.
func isLeftOut(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "testdata" || folder == "node_modules"
}

func readModule(path string) (*modfile.File, error) {
	text, err := os.ReadFile(path) //nolint:gosec // A file of the repository.
	if err != nil {
		return nil, err
	}
	return modfile.Parse(path, text, nil)
}

// checkVersion refuses versions that are invalid for these modules.
func checkVersion(version string) error {
	switch {
	case semver.Canonical(version) != version || version == "":
		return fmt.Errorf("%q is not a version: give one such as v0.1.0", version)
	case semver.Major(version) != "v0" && semver.Major(version) != "v1":
		return fmt.Errorf("%s needs module paths that end in /%s: change them first", version, semver.Major(version))
	}
	return nil
}

// setRequires makes every module require the project's other modules at the given version.
func setRequires(root, version string) error {
	modules, err := readModules(root)
	if err != nil {
		return err
	}
	for _, m := range modules {
		for _, path := range m.ours() {
			if err := m.file.AddRequire(path, version); err != nil {
				return err
			}
		}
		text, err := m.file.Format()
		if err != nil {
			return err
		}
		//nolint:gosec // Everybody may read it.
		if err := os.WriteFile(filepath.Join(root, m.folder, "go.mod"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
