// Package chatplatform is a fictional chat platform over HTTP with a connector. It supports every port of
// packages send and livechat. It is for tests of the connector suite, and of connectors that wrap others.
package chatplatform
