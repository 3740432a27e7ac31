/** A connection whose socket, time and ticks the test drives by hand. */
import { PROTOCOL_VERSION } from '../../../src/protocol/version.ts';
import { connect, type Connection } from '../../../src/transport/connection.ts';
import type { ConnectionOptions } from '../../../src/transport/options.ts';
import { LEVELS } from '../../support/wire.ts';
import { settled, type FakePlatform } from './fake-platform.ts';

export const LIMITS = { frameBytesMax: 1 << 20, inFlightMax: 100 };

export function connectBy(platform: FakePlatform, options: Partial<ConnectionOptions> = {}): Connection {
  const { WebSocket } = platform;
  const byHand = { codec: 'json', WebSocket, scheduling: platform, random: () => 0 } as const;
  return connect({ url: 'ws://server.test/irl', ...byHand, ...options }, { levels: LEVELS });
}

/** The server lets the connection in; `more` joins what it says then. */
export async function welcome(platform: FakePlatform, more: object = {}): Promise<void> {
  platform.socket.open();
  await settled();
  platform.socket.receive([
    0,
    'welcome',
    { version: PROTOCOL_VERSION, levels: LEVELS, memory: 'm', limits: LIMITS, ...more },
  ]);
  platform.tick();
}
