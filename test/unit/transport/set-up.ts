/** A connection whose socket, time and ticks the test drives by hand. */
import { expect } from 'vitest';
import { PROTOCOL_VERSION } from '../../../src/protocol/codec/version.ts';
import {
  connectClient,
  type ReconnectingClient,
} from '../../../src/transport/reconnecting-client.ts';
import type {
  ConnectionOptions,
  ConnectionTarget,
} from '../../../src/transport/options/options.ts';
import { LEVELS, quietContext, readX, SinkDouble } from '../../support/wire.ts';
import { FakePlatform, settled } from './fake-platform.ts';

export const LIMITS = { maxFrameBytes: 1 << 20, maxInFlight: 100 };

export function connectBy(
  platform: FakePlatform,
  options: Partial<ConnectionOptions> = {},
  target: Partial<ConnectionTarget> = {},
): ReconnectingClient {
  const { WebSocket } = platform;
  const byHand = { codec: 'json', WebSocket, scheduling: platform, random: () => 0 } as const;
  return connectClient(
    { url: 'ws://server.test/ireland', ...byHand, ...options },
    { levels: LEVELS, ...target },
  );
}

/** The server accepts the connection. `more` adds to its welcome. */
export async function welcome(platform: FakePlatform, more: object = {}): Promise<void> {
  platform.socket.open();
  await settled();
  platform.socket.receive([
    0,
    'welcome',
    { version: PROTOCOL_VERSION, levels: LEVELS, memoryId: 'm', limits: LIMITS, ...more },
  ]);
  platform.tick();
}

/** The connection is lost, and the next attempt succeeds. `more` adds to the welcome. */
export async function reconnect(platform: FakePlatform, more: object = {}): Promise<void> {
  platform.socket.lose();
  platform.advance(100);
  await welcome(platform, more);
}

/** A client, its platform and the states that it went through. */
export interface Fixture {
  readonly platform: FakePlatform;
  readonly connection: ReconnectingClient;
  readonly states: string[];
}

export function start(options: Partial<ConnectionOptions> = {}): Fixture {
  const platform = new FakePlatform();
  const states: string[] = [];
  const connection = connectBy(platform, {
    onStateChange: (state) => states.push(state),
    ...options,
  });
  return { platform, connection, states };
}

export async function startOpen(options: Partial<ConnectionOptions> = {}): Promise<Fixture> {
  const fixture = start(options);
  await welcome(fixture.platform);
  expect(fixture.connection.state).toBe('open');
  return fixture;
}

export function submit(
  connection: ReconnectingClient,
  operation = readX,
  context = quietContext(),
): SinkDouble {
  const sink = new SinkDouble();
  connection.submit(operation, ['weak', 'strong'], sink, context);
  return sink;
}
