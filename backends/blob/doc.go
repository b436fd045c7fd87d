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
//	rt, err := botctx.New(botctx.Config{ObjectStore: store, ...})
//
// Drivers for folders and memory are linked in. For S3 and stores with the same protocol, a host imports
// gocloud.dev/blob/s3blob and opens an address such as "s3://example-bots?region=eu-central-1"; the guide to
// hosting shows an example.
//
// A file appears only when it is complete. If its reader fails or the context ends, the previous file under the
// key remains. Files are streamed, so large files do not need more memory.
//
// Readers of a folder opened by [Open] see the old or the new content, even after a crash. The driver keeps the
// content type in a second file. If the type changes, a reader may briefly see the new type with the old
// content. In a folder passed to [New] the driver rewrites that second file in place, and concurrent reads can
// fail with EOF; use Open for folders.
package blob
