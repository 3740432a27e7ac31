/**
 * The version of the wire protocol. A test holds a hash of all message schemas and fails until a
 * change bumps it.
 */

/** Version of the messages, sent in `hello` and `welcome`. Both ends must have the same one. */
export const PROTOCOL_VERSION = 6;

/**
 * Name of the websocket subprotocol without the codec, which follows after a `+`. Its `v1` is how
 * frames are made.
 */
export const SUBPROTOCOL = 'correctables.v1';
