// Package mongo is the document.Store on a MongoDB database.
package mongo
