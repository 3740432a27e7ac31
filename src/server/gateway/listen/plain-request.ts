/**
 * Requests that ask for another protocol which nobody here speaks, as clients of HTTP/2 do by habit. Whoever does not
 * take an upgrade answers the request as any other; but Node hands each to the listeners for upgrades, of which a
 * gateway is one, and to nobody else.
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as SecureServer } from 'node:tls';

const OF_UPGRADE = /^(upgrade|http2-settings)$/i;

/** Whether a websocket is asked for. */
export function isForWebsocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Hands the socket to the server anew, with the same request but for the wish to upgrade, and what came after it. */
export function answerPlainly(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
  socket.unshift(Buffer.concat([plainHead(request), head]));
  // Of a server with TLS, the other event is about bytes that are still to be decrypted.
  server.emit(server instanceof SecureServer ? 'secureConnection' : 'connection', socket);
}

/** The head as it came, in the encoding of the wire, without what belongs to the upgrade. */
function plainHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    if (OF_UPGRADE.test(name)) continue;
    lines.push(`${name}: ${/^connection$/i.test(name) ? withoutUpgrade(value) : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !OF_UPGRADE.test(option)).join(', ');
}
