// Package blob keeps the files of uploadFileToObjectStore in a bucket: Store is a utility.ObjectStore over
// anything that gocloud.dev/blob can open.
//
//   - To open a bucket by its address, use [Open].
//   - To use a bucket that is already open, pass it to [New].
//   - To use it in a host, make the [Store] the ObjectStore of botctx.Config, and Files of webchat.Config.
//
// In a host:
//
//	store, err := blob.Open(ctx, "file:///var/lib/bots/files?create_dir=true")
//	...
//	defer store.Close()
//	platform, err := botctx.New(botctx.Config{ObjectStore: store, ...})
//
// Drivers for folders and memory are linked in. For S3, and stores that speak its protocol, a host imports
// gocloud.dev/blob/s3blob and opens an address such as "s3://example-bots?region=eu-central-1"; the guide to
// hosting shows how.
//
// A file appears when it is complete: if its reader fails, or the context ends, the previous file under the
// key remains. Files stream, so memory does not grow with them.
//
// Readers of a folder opened by [Open] see the old or the new content, even after a crash. The driver reads
// the content type from a second file: if it changes, a reader may see the new type a moment before the new
// content. In a folder passed to [New] the driver writes that file in place, and readers fail with EOF in the
// meantime: open folders with Open.
package blob
