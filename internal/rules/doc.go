// Package rules checks the repository against its rules. It contains only tests. Each test is a rule, and its failure
// names the violation, the location and the remedy.
package rules
