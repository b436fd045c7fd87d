package main

import (
	"fmt"
	"strings"
	"time"
)

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
