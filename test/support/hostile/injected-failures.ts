/**
 * Mistakes on purpose, each at its time, in what a gateway is given by others, and a guard for what
 * comes of them.
 */
import { vi } from 'vitest';
import { jsonCodec } from '../../../src/protocol/codec/json-codec.ts';
import type { Principal } from '../../../src/server/gateway/context/gateway-context.ts';

/** The error that is thrown. */
export const INJECTED_FAILURE = new Error('a mistake on purpose');

/** Returns a principal whose field throws when it is read for the n-th time. */
export function principalFailing(field: 'id' | 'expiresAt', atRead: number): Principal {
  const whole = { id: 'ann', expiresAt: Date.now() + 3_600_000 };
  let reads = 0;
  return Object.defineProperty(whole, field, {
    get: () => {
      if (++reads >= atRead) throw INJECTED_FAILURE;
      return field === 'id' ? 'ann' : Date.now() + 3_600_000;
    },
  });
}

/** From now on, encoding rows of these kinds fails. `vi.restoreAllMocks` undoes it. */
export function failEncoding(...kinds: string[]): void {
  const encodeMessage = jsonCodec.encodeMessage.bind(jsonCodec);
  vi.spyOn(jsonCodec, 'encodeMessage').mockImplementation((row, fields) => {
    if (kinds.includes(row[1] as string)) throw INJECTED_FAILURE;
    return encodeMessage(row, fields);
  });
}

/** Lets the encoding of the next text frame fail. */
export function failFrame(): void {
  vi.spyOn(jsonCodec, 'frame').mockImplementationOnce(() => {
    throw INJECTED_FAILURE;
  });
}

type Handler = (...args: unknown[]) => void;
const FATAL = ['uncaughtException', 'unhandledRejection'] as const;

/** Until its disposal, collects the errors that would end the process. */
export class Guard implements Disposable {
  /** The errors that would have ended the process. */
  readonly fatal: string[] = [];
  readonly #others = new Map<string, Handler[]>();
  readonly #onFatal: Handler = (error) => {
    this.fatal.push(
      String((error as Error)?.stack ?? error)
        .split('\n', 2)
        .join(' '),
    );
  };

  constructor() {
    for (const event of FATAL) {
      this.#others.set(event, process.listeners(event as 'exit') as Handler[]);
      process.removeAllListeners(event);
      process.on(event, this.#onFatal);
    }
  }

  [Symbol.dispose](): void {
    for (const event of FATAL) {
      process.off(event, this.#onFatal);
      for (const handler of this.#others.get(event) ?? []) process.on(event, handler);
    }
  }
}
