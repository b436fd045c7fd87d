package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

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
