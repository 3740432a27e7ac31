/**
 * What a hostile end can do to a connection, in whatever state that is. The same list for hostile clients and hostile
 * servers: only the masking of frames differs.
 */
import type { RawPeer } from './raw-peer.ts';
import { closeFrame, frame, OPCODE } from './ws-frames.ts';

/** A connection in a state, and what an honest end would say next. */
export interface Scene {
  readonly peer: RawPeer;
  /** Bytes of the honest continuation. */
  readonly rest: Buffer;
  /** Whether this end masks its frames, as clients must. */
  readonly isMasked: boolean;
}

export type Happening = (scene: Scene) => void | Promise<void>;

const CLOSE_CODES = [1000, 1001, 1009, 1011, 4400, 4401, 4402, 4403, 4406, 4408, 4409, 4429];
const ILLEGAL_CODES = [0, 999, 1004, 1005, 1006, 1015, 2999, 5000, 65535];
const GARBAGE = Buffer.from(Array.from({ length: 256 }, (_, i) => (i * 197 + 31) & 0xff));
const HUGE = 2 ** 40;
const BIG = 8 << 20;
const CONTROL_BYTES_MAX = 125;
const PINGS = 500;

const close =
  (code: number): Happening =>
  ({ peer, isMasked }) =>
    peer.write(closeFrame(code, isMasked));

const stopAfter =
  (share: number): Happening =>
  ({ peer, rest }) =>
    peer.write(rest.subarray(0, Math.max(1, Math.floor(rest.length * share))));

/** Name → what happens. */
export const HAPPENINGS: Readonly<Record<string, Happening>> = {
  RST: ({ peer }) => peer.reset(),
  FIN: ({ peer }) => peer.fin(),
  'FIN, then RST': async ({ peer }) => {
    peer.fin();
    await new Promise(setImmediate);
    peer.reset();
  },
  silence: () => {},
  'one byte at a time': ({ peer, rest }) => peer.crumble(rest),
  'one byte, then silence': stopAfter(0),
  'half of it, then silence': stopAfter(0.5),
  'half of it, then RST': async ({ peer, rest }) => {
    await new Promise((resolve) => peer.socket.write(rest.subarray(0, rest.length >> 1), resolve));
    peer.reset();
  },
  'half of it, then FIN': ({ peer, rest }) => {
    peer.write(rest.subarray(0, rest.length >> 1));
    peer.fin();
  },
  'all of it, then RST': async ({ peer, rest }) => {
    await new Promise((resolve) => peer.socket.write(rest, resolve));
    peer.reset();
  },
  'says all and reads nothing': ({ peer, rest }) => {
    peer.stopReading();
    peer.write(rest);
  },
  'says nothing more and reads': ({ peer }) => peer.fin(),
  ...Object.fromEntries(CLOSE_CODES.map((code) => [`close ${code}`, close(code)])),
  ...Object.fromEntries(ILLEGAL_CODES.map((code) => [`illegal close ${code}`, close(code)])),
  'close of one byte': ({ peer, isMasked }) => peer.write(frame(Buffer.of(3), { opcode: OPCODE.close, isMasked })),
  'close with broken text': ({ peer, isMasked }) =>
    peer.write(frame(Buffer.of(3, 0xe8, 0xff, 0xfe), { opcode: OPCODE.close, isMasked })),
  'close, then more': ({ peer, rest, isMasked }) => peer.write(Buffer.concat([closeFrame(1000, isMasked), rest])),
  garbage: ({ peer }) => peer.write(GARBAGE),
  zeros: ({ peer }) => peer.write(Buffer.alloc(4096)),
  'oversize frame, said': ({ peer, isMasked }) => peer.write(frame(Buffer.alloc(64), { isMasked, claimedBytes: HUGE })),
  'oversize frame, sent': ({ peer, isMasked }) => peer.write(frame(Buffer.alloc(BIG, 0x20), { isMasked })),
  'first fragment, then silence': ({ peer, isMasked }) =>
    peer.write(frame(Buffer.from('[['), { isMasked, isFinal: false })),
  'fragments without end': ({ peer, isMasked }) => {
    peer.write(frame(Buffer.from('['), { isMasked, isFinal: false }));
    const piece = frame(Buffer.from(' '), { opcode: OPCODE.continuation, isMasked, isFinal: false });
    for (let i = 0; i < PINGS; i++) peer.write(piece);
  },
  'a new message within a fragmented one': ({ peer, isMasked }) => {
    peer.write(frame(Buffer.from('['), { isMasked, isFinal: false }));
    peer.write(frame(Buffer.from('[]'), { isMasked }));
  },
  'continuation of nothing': ({ peer, isMasked }) =>
    peer.write(frame(Buffer.from('[]'), { opcode: OPCODE.continuation, isMasked })),
  'wrong opcode': ({ peer, isMasked }) => peer.write(frame(Buffer.from('[]'), { opcode: 3, isMasked })),
  'wrong control opcode': ({ peer, isMasked }) => peer.write(frame(Buffer.alloc(0), { opcode: 0xb, isMasked })),
  'reserved bit': ({ peer, isMasked }) => peer.write(frame(Buffer.from('[]'), { reserved: 4, isMasked })),
  'wrong masking': ({ peer, isMasked }) => peer.write(frame(Buffer.from('[]'), { isMasked: !isMasked })),
  'broken text': ({ peer, isMasked }) => peer.write(frame(Buffer.of(0xff, 0xfe), { isMasked })),
  'no rows': ({ peer, isMasked }) => peer.write(frame(Buffer.from('7'), { isMasked })),
  'the other codec': ({ peer, isMasked }) =>
    peer.write(frame(Buffer.of(0x91, 0x90), { opcode: OPCODE.binary, isMasked })),
  'large ping': ({ peer, isMasked }) =>
    peer.write(frame(Buffer.alloc(CONTROL_BYTES_MAX + 1), { opcode: OPCODE.ping, isMasked })),
  'many pings, unread': ({ peer, isMasked }) => {
    peer.stopReading();
    const ping = frame(Buffer.alloc(CONTROL_BYTES_MAX), { opcode: OPCODE.ping, isMasked });
    peer.write(Buffer.concat(Array.from({ length: PINGS }, () => ping)));
  },
  'pong that nobody asked for': ({ peer, isMasked }) =>
    peer.write(frame(Buffer.from('x'), { opcode: OPCODE.pong, isMasked })),
};
