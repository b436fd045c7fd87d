// Package nodefile reads the nodes of a bot from every nodes.json in a folder. It records the place of each value, so
// that errors can name their lines.
package nodefile
