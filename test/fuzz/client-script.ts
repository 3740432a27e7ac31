/**
 * What one hostile client does, from its seed alone: the bytes that it sends, piece by piece, and
 * how it leaves.
 */
import type { Random } from '../../src/server/service/collections/random.ts';
import {
  encode,
  createHello,
  say,
  createSubmit,
  SUBPROTOCOLS,
  type CodecName,
  type RawMessage,
} from '../support/hostile/wire-messages.ts';
import { closeFrame, frame, OPCODE, upgradeRequest } from '../support/hostile/ws-frames.ts';
import { anyValue, damagedRow, spoilt } from './mutate-input.ts';

/**
 * How a client leaves. Waiting is for the server's next word, or for as long as the storm allows.
 */
export type Leaving = 'reset' | 'reset-after-answer' | 'fin' | 'silent' | 'ordered';

export interface ClientScript {
  /** One of the stormed addresses. */
  readonly site: string;
  readonly pieces: readonly Buffer[];
  /** The pieces before which it waits for a reply. */
  readonly awaitsBefore: ReadonlySet<number>;
  readonly leaving: Leaving;
  readonly frames: number;
  readonly requests: number;
}

/** What a site that is stormed is called, and what its clients must say. */
export interface SiteFacts {
  readonly name: string;
  readonly port: number;
  readonly levels: readonly string[];
  readonly contract?: { readonly name: string; readonly hash: string } | undefined;
}

const LEAVINGS: readonly [Leaving, ...Leaving[]] = [
  'reset',
  'reset-after-answer',
  'fin',
  'silent',
  'ordered',
];
const ROWS_MAX = 12;
const FRAMES_MAX = 80;

/** Draws a client of one of the sites. */
export function drawClient(
  random: Random,
  sites: readonly [SiteFacts, ...SiteFacts[]],
): ClientScript {
  const site = random.pick(sites as [SiteFacts, ...SiteFacts[]]);
  const kind = random.fraction();
  if (kind < 0.12) return drawHttp(random, site);
  if (kind < 0.3) return drawUpgrade(random, site);
  return drawConversation(random, site);
}

const PATHS: readonly [string, ...string[]] = [
  '/health',
  '/ready',
  '/ready/ireland',
  '/ready/nope',
  '/sites',
  '/metrics',
  '/',
  '/nope',
  '/health/x',
  '//',
  '/%00',
  '/..%2f',
  '/ready/__proto__',
  `/${'x'.repeat(5000)}`,
  '*',
  'http://elsewhere/health',
];
const METHODS: readonly [string, ...string[]] = [
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'OPTIONS',
  'PUT',
  'TRACE',
  'CONNECT',
  'BREW',
];
const HEADERS: readonly [string, ...string[]] = [
  'Origin: null',
  'Origin: https://shop.example',
  'Origin: https://evil.example',
  'Authorization: Bearer good',
  'Authorization: Bearer bad',
  'Authorization: Bearer nobody',
  'Authorization: \u00ff\u00fe',
  'Host: evil.example',
  'Content-Length: 10',
  'Content-Length: -1',
  'Transfer-Encoding: chunked',
  'Expect: 100-continue',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Connection: close',
  'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=99',
  'Sec-WebSocket-Version: 99',
  'Sec-WebSocket-Key: short',
  'Sec-WebSocket-Protocol: ,,,',
  `X-Long: ${'x'.repeat(20_000)}`,
];

function drawHttp(random: Random, { name, port }: SiteFacts): ClientScript {
  const requests = random.between(1, 6);
  const pieces: Buffer[] = [];
  for (let i = 0; i < requests; i++) {
    const headers = Array.from({ length: random.between(0, 3) }, () =>
      random.pick(HEADERS as [string, ...string[]]),
    );
    const lines = [
      `${random.pick(METHODS as [string, ...string[]])} ${random.pick(PATHS as [string, ...string[]])} HTTP/1.${random.between(0, 1)}`,
      `Host: 127.0.0.1:${port}`,
      ...headers,
    ];
    pieces.push(Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'));
  }
  return scriptOf(random, name, { pieces: damagePieces(random, pieces), frames: 0, requests });
}

function drawUpgrade(random: Random, site: SiteFacts): ClientScript {
  const path = random.chance(0.5) ? `/${site.name}` : random.pick(PATHS as [string, ...string[]]);
  const subprotocol = random.pick([
    SUBPROTOCOLS.json,
    SUBPROTOCOLS.msgpack,
    'mqtt',
    '',
    `${SUBPROTOCOLS.json}, x`,
    ',',
  ]);
  const headers = Array.from({ length: random.between(0, 2) }, () =>
    random.pick(HEADERS as [string, ...string[]]),
  );
  const request = Buffer.from(
    upgradeRequest({ path, port: site.port, subprotocol, headers }),
    'latin1',
  );
  const frames = random.between(0, 3);
  const pieces: Buffer[] = [request];
  // Pipelined: sent before the upgrade is answered.
  for (let i = 0; i < frames; i++) pieces.push(anyFrame(random, site, 'json'));
  const joined = random.chance(0.5) ? [Buffer.concat(pieces)] : pieces;
  return scriptOf(random, site.name, { pieces: damagePieces(random, joined), frames, requests: 1 });
}

function drawConversation(random: Random, site: SiteFacts): ClientScript {
  const codec: CodecName = random.chance(0.5) ? 'json' : 'msgpack';
  const request = upgradeRequest({
    path: `/${site.name}`,
    port: site.port,
    subprotocol: SUBPROTOCOLS[codec],
  });
  const frames = random.between(1, FRAMES_MAX);
  const pieces: Buffer[] = [
    Buffer.from(request),
    framed(encode([anyHello(random, site)], codec), codec),
  ];
  for (let i = 0; i < frames; i++) pieces.push(anyFrame(random, site, codec));
  return {
    ...scriptOf(random, site.name, { pieces, frames: frames + 1, requests: 1 }),
    awaitsBefore: new Set([1, 2]),
  };
}

function anyHello(random: Random, { name, levels, contract }: SiteFacts): RawMessage {
  // Few ids, so that clients take over from each other and hear each other's replies.
  const client = random.chance(0.3)
    ? `shared-${random.between(1, 4)}`.padEnd(20, 'x')
    : `client-${random.bits()}`.padEnd(20, 'x');
  const token =
    name === 'closed'
      ? random.pick(['good', 'other', 'slow', 'short', 'good', 'bad', 'nobody'])
      : undefined;
  const hello = createHello({ client, levels, attempt: random.between(1, 5), token, contract });
  return random.chance(0.05) ? damagedRow(random, hello) : hello;
}

function anyRow(random: Random): RawMessage {
  const id = random.between(1, 60);
  switch (random.between(0, 11)) {
    case 0:
      return say.cancel(id);
    case 1:
      return say.ack(random.between(0, 60));
    case 2:
      return say.ping(random.between(0, 9));
    case 3:
      return say.pong(random.between(0, 9));
    case 4:
      return random.chance(0.3)
        ? say.renew(random.pick(['good', 'other', 'short', 'bad', 'nobody']))
        : say.ping(1);
    case 5:
      return [
        id,
        'submit',
        'count',
        'read',
        1,
        anyValue(random),
        null,
        anyNumber(random),
        anyValue(random),
        anyTokens(random),
      ];
    case 6:
      return [
        id,
        'submit',
        'bump',
        'write',
        3,
        { mark: 'h' },
        'k',
        null,
        null,
        null,
        ['ireland', random.between(1, 3)],
      ];
    default: {
      const isUpdate = random.chance(0.3);
      const name = isUpdate ? random.pick(['bump', 'bumpRed', 'nope']) : 'count';
      const args = {
        mark: `h${random.between(0, 20)}`,
        ...(random.chance(0.05) && { size: 100_000 }),
      };
      return createSubmit({
        id,
        name,
        access: isUpdate ? 'write' : 'read',
        levels: random.between(1, 9),
        args,
      });
    }
  }
}

function anyNumber(random: Random): number | null {
  return random.pick([null, 0, 1, 50, 2 ** 40]);
}

function anyTokens(random: Random): unknown {
  return random.pick([
    null,
    [],
    ['ireland.x'],
    ['ireland.1.abc', 'frankfurt.2.def'],
    'ireland',
    [5],
  ]);
}

function anyFrame(random: Random, _site: SiteFacts, codec: CodecName): Buffer {
  const rows = Array.from({ length: random.between(1, ROWS_MAX) }, () =>
    random.chance(0.02) ? damagedRow(random, anyRow(random)) : anyRow(random),
  );
  const payload = encode(rows, codec);
  if (random.chance(0.02)) return framed(spoilt(random, payload), codec);
  if (random.chance(0.01)) return spoilt(random, framed(payload, codec));
  if (random.chance(0.01)) return oddFrame(random, payload);
  if (random.chance(0.05)) return fragmented(payload, codec, random.between(0, payload.length));
  return framed(payload, codec);
}

function framed(payload: Buffer, codec: CodecName): Buffer {
  return frame(payload, { opcode: codec === 'json' ? OPCODE.text : OPCODE.binary, isMasked: true });
}

function fragmented(payload: Buffer, codec: CodecName, at: number): Buffer {
  const opcode = codec === 'json' ? OPCODE.text : OPCODE.binary;
  return Buffer.concat([
    frame(payload.subarray(0, at), { opcode, isMasked: true, isFinal: false }),
    frame(Buffer.from('p'), { opcode: OPCODE.ping, isMasked: true }),
    frame(payload.subarray(at), { opcode: OPCODE.continuation, isMasked: true }),
  ]);
}

/** Breaks the rules of websockets, which ends the connection. */
export function oddFrame(random: Random, payload: Buffer, isMasked = true): Buffer {
  switch (random.between(0, 6)) {
    case 0:
      return closeFrame(
        random.pick([1000, 1001, 1005, 999, 4400, 5000]),
        isMasked,
        'x'.repeat(random.between(0, 120)),
      );
    case 1:
      return frame(payload, { opcode: random.between(3, 15), isMasked });
    case 2:
      return frame(payload, { isMasked, reserved: random.between(1, 7) });
    case 3:
      return frame(payload, { isMasked: !isMasked });
    case 4:
      return frame(payload, { isMasked, claimedBytes: random.pick([2 ** 21, 2 ** 31, 2 ** 50]) });
    case 5:
      return frame(payload, { isMasked, isFinal: false, opcode: random.pick([0, 1, 2, 8, 9]) });
    default:
      return frame(Buffer.of(3), { isMasked, opcode: OPCODE.close });
  }
}

function damagePieces(random: Random, pieces: readonly Buffer[]): Buffer[] {
  const hurt = random.chance(0.3)
    ? pieces.map((piece) => (random.chance(0.5) ? spoilt(random, piece) : piece))
    : [...pieces];
  if (!random.chance(0.2)) return hurt;
  // Stops after any byte.
  const all = Buffer.concat(hurt);
  return [all.subarray(0, random.between(0, all.length))];
}

interface Parts {
  readonly pieces: readonly Buffer[];
  readonly frames: number;
  readonly requests: number;
}

function scriptOf(random: Random, site: string, parts: Parts): ClientScript {
  return {
    site,
    ...parts,
    awaitsBefore: new Set(),
    leaving: random.pick(LEAVINGS as [Leaving, ...Leaving[]]),
  };
}

/** For the report of a crash. */
export function describeScript({ site, pieces, leaving }: ClientScript): string {
  const bytes = Buffer.concat(pieces).subarray(0, 160);
  return `${site}, ${pieces.length} pieces, leaves ${leaving}: ${JSON.stringify(bytes.toString('latin1'))}`;
}
