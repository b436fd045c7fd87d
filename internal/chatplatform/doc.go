// Package chatplatform is a fictional platform over HTTP that supports every port of packages send and livechat, and
// a connector for it. It is for tests of the connector suite and of connectors that wrap others.
package chatplatform
