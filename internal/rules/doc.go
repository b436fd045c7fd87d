// Package rules checks the repository against its rules. It has no code. Each test is a rule. Its failure names the
// violation, its location and the remedy.
package rules
