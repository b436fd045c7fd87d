// Package rules checks the repository against its own rules. It has no code: each of its tests is a rule,
// whose failure names the breach, its place and the remedy.
package rules
