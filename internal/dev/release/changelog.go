package main

import (
	"fmt"
	"strings"
	"time"
)

// unreleased is the heading of changes that no version has yet.
const unreleased = "## [Unreleased]\n"

// withHeading moves the unreleased changes of a changelog under a heading with the version and the date of
// its release.
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
