/** Websockets of an HTTP server: each upgrade goes to the gateway of its path, or is refused. */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../../correctable/clock.ts';
import type { Gateway } from '../gateway.ts';
import { CloseCode } from '../../../protocol/close-codes.ts';
import { parsePath, rejectUpgrade } from './http-server.ts';
import { getRemoteAddress } from '../context/ip-addresses.ts';
import type { RequestGuard } from './request-guard.ts';
import { WsSocket } from '../connection/socket.ts';
import { Server as SecureServer } from 'node:tls';

type Accept = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/**
 * The maximum length of the reason of a close, by the websocket standard in bytes. The names of
 * sites are ASCII, so it counts characters.
 */
const MAX_REASON_LENGTH = 123;
/** Messages of a refused client are not read. */
const MAX_REFUSED_BYTES = 1024;

const UPGRADE_HEADERS = /^(upgrade|http2-settings)$/i;

/** How long another listener may take to answer an upgrade that was left to it. */
const UNHANDLED_TIMEOUT_MS = 30_000;

/**
 * How long to wait for the peer's close. A socket that is not read does not notice that its peer is
 * gone.
 */
const CLOSE_TIMEOUT_MS = 5_000;
/** The same time for a refused client, which only has to read the reason. */
const REFUSED_CLOSE_TIMEOUT_MS = 1_000;

/**
 * The listeners of all gateways. If a server has other listeners, these may handle upgrades to
 * other paths.
 */
const OWN_LISTENERS = new WeakSet<object>();

/**
 * Requests that were passed to the server as plain requests. If several listeners of this package
 * are on one server, only the first one does that.
 */
const RETURNED_REQUESTS = new WeakSet<IncomingMessage>();

/** Handles the upgrades of a server from now on. Returns a function that ends this. */
export function attachUpgrades(
  server: Server,
  sites: Readonly<Record<string, Gateway>>,
  guard: RequestGuard,
): () => void {
  const targets = new Map(
    Object.entries(sites).map(([name, gateway]) => [`/${name}`, createAcceptor(gateway, guard)]),
  );
  const rejectPath = createPathRejection(sites, guard);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    if (RETURNED_REQUESTS.has(request)) return;
    const others = server.listeners('upgrade').filter((listener) => listener !== onUpgrade);
    if (!isWebsocketRequest(request) && others.every((listener) => OWN_LISTENERS.has(listener))) {
      RETURNED_REQUESTS.add(request);
      return handOverAsPlainRequest(server, request, socket, head);
    }
    // Add a listener for errors: Node has removed its own from the socket. Without one, a client
    // that resets the connection would end the process.
    socket.on('error', () => socket.destroy());
    const path = parsePath(request);
    const accept = targets.get(path);
    try {
      if (accept !== undefined && isWebsocketRequest(request)) return accept(request, socket, head);
    } catch {
      // Another listener has accepted the upgrade already. If there is no other listener, the
      // socket is broken.
      return others.length > 0 ? undefined : void socket.destroy();
    }
    if (others.length > 0) return leaveToOthers(socket as Socket);
    guard.reportUnknownPath(path, targets.keys());
    return isWebsocketRequest(request)
      ? rejectPath(request, socket, head)
      : rejectUpgrade(socket, 404, 'no such site');
  };
  OWN_LISTENERS.add(onUpgrade);
  server.on('upgrade', onUpgrade);
  return () => server.off('upgrade', onUpgrade);
}

function createWebSocketServer(
  subprotocols: readonly string[],
  maxPayload: number,
  closeTimeout: number,
): WebSocketServer {
  // The types of `ws` lack this option.
  const closing = { closeTimeout };
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    // Frames that came together are read in one iteration of the event loop, and answered together.
    allowSynchronousEvents: true,
    maxPayload,
    ...closing,
    handleProtocols: (offered) => subprotocols.find((name) => offered.has(name)) ?? false,
  });
}

/**
 * Refuses websockets to a path that is no site. A client of this package is accepted first:
 * browsers report the code and the reason of a close, but not why an upgrade was refused.
 */
function createPathRejection(
  sites: Readonly<Record<string, Gateway>>,
  guard: RequestGuard,
): Accept {
  const gateways = Object.values(sites);
  const [{ subprotocols }] = gateways as [Gateway];
  const origins = gateways.flatMap((gateway) => gateway.origins);
  const websockets = createWebSocketServer(
    subprotocols,
    MAX_REFUSED_BYTES,
    REFUSED_CLOSE_TIMEOUT_MS,
  );
  const reason = describeSites(Object.keys(sites));
  return (request, socket, head) => {
    const problem = guard.findProblem(request, origins);
    if (problem !== undefined) return rejectUpgrade(socket, 403, problem);
    if (!offersSubprotocol(subprotocols, request))
      return rejectUpgrade(socket, 404, 'no such site');
    websockets.handleUpgrade(request, socket, head, (websocket) => {
      // An error of a refused client does not matter.
      websocket.on('error', () => websocket.terminate());
      websocket.close(CloseCode.noSite, reason);
    });
    return undefined;
  };
}

/** Lists as many sites as fit the reason of a close. */
function describeSites(names: readonly string[]): string {
  const text = `the path of the address is no site. Sites: ${names.map((name) => `/${name}`).join(', ')}`;
  return text.length <= MAX_REASON_LENGTH ? text : `${text.slice(0, MAX_REASON_LENGTH - 3)}...`;
}

function createAcceptor(gateway: Gateway, guard: RequestGuard): Accept {
  const websockets = createWebSocketServer(
    gateway.subprotocols,
    gateway.limits.maxFrameBytes,
    CLOSE_TIMEOUT_MS,
  );
  return (request, socket, head) => {
    const problem = guard.findProblem(request, gateway.origins);
    if (problem !== undefined) return rejectUpgrade(socket, 403, problem);
    const remoteAddress = getRemoteAddress(request);
    if (!gateway.isAccepting || !gateway.acceptsFrom(remoteAddress))
      return rejectUpgrade(socket, 503, 'try again later');
    if (!offersSubprotocol(gateway.subprotocols, request)) {
      return rejectUpgrade(
        socket,
        400,
        `the subprotocol must be one of ${gateway.subprotocols.join(', ')}`,
      );
    }
    websockets.handleUpgrade(request, socket, head, (websocket) => {
      try {
        const { origin } = request.headers;
        gateway.accept(new WsSocket(websocket, socket), {
          remoteAddress,
          origin,
        });
      } catch {
        websocket.terminate();
      }
    });
    return undefined;
  };
}

function offersSubprotocol(subprotocols: readonly string[], request: IncomingMessage): boolean {
  const offered = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((name) => name.trim());
  return subprotocols.some((name) => offered.includes(name));
}

/**
 * Leaves an upgrade to the other listeners of the server. If none of them answers in time, refuses
 * it: otherwise the socket would stay open and unread.
 */
function leaveToOthers(socket: Socket): void {
  const writtenBefore = socket.bytesWritten;
  const timer = systemClock.setTimer(() => {
    // `null`: no listener has begun to read the socket, or one has paused it.
    const isTaken =
      socket.destroyed || socket.readableFlowing !== null || socket.bytesWritten > writtenBefore;
    if (!isTaken) rejectUpgrade(socket, 404, 'nothing here');
  }, UNHANDLED_TIMEOUT_MS);
  timer.setRef?.(false);
  socket.once('close', () => timer.cancel());
}

function isWebsocketRequest({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/**
 * Passes the request to the server as a plain request. Clients that support HTTP/2 request an
 * upgrade by default, and expect a normal reply.
 */
function handOverAsPlainRequest(
  server: Server,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  socket.unshift(Buffer.concat([formatPlainHead(request), head]));
  // On a server with TLS, emit `secureConnection`: `connection` is for sockets that are not
  // decrypted yet.
  server.emit(server instanceof SecureServer ? 'secureConnection' : 'connection', socket);
}

/** Formats the head of the request as it was received, without the headers of the upgrade. */
function formatPlainHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    const value = rawHeaders[at + 1] as string;
    if (UPGRADE_HEADERS.test(name)) continue;
    lines.push(`${name}: ${/^connection$/i.test(name) ? removeUpgradeToken(value) : value}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function removeUpgradeToken(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => !UPGRADE_HEADERS.test(option)).join(', ');
}
