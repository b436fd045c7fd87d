// Command benchmarks measures memstore.
package main

func main() {}
