// Package widgettest tests the chat widget of backends/webchat in a headless Chromium, if one is installed.
package widgettest
