/** Keeps `ws` from reading on behind a frame that it has refused. */
import type { WebSocket } from 'ws';

/** The part of `ws` that takes messages out of bytes. It has no public name. */
interface Reader {
  readonly _errored: boolean;
  _write(bytes: unknown, encoding: unknown, done: (error?: Error) => void): void;
}

/**
 * Where frames are read one at a time, more bytes may wait behind one that is refused, for example for text that is no
 * UTF-8. `ws` hands them to its reader before the error has closed it, and the reader throws where nobody can catch it:
 * any client could end the process.
 */
export function stopAtError(websocket: WebSocket): void {
  const reader = (websocket as unknown as { readonly _receiver?: Reader })._receiver;
  if (reader === undefined) return;
  const write = reader._write.bind(reader);
  reader._write = (bytes, encoding, done) => {
    if (reader._errored) done();
    else write(bytes, encoding, done);
  };
}
