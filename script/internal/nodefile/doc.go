// Package nodefile reads the files in which a folder keeps the nodes of a bot: each nodes.json in it, with
// the place of everything, so that what is wrong can be told with its line.
package nodefile
