/** A websocket that counts the bytes in its frames. All contenders use it. */
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';

/** Bytes of this process so far, without headers of frames. */
export const counted: { sent: number; received: number } = { sent: 0, received: 0 };

/** The websocket that counts. */
export class CountedSocket extends WebSocket {
  constructor(
    url: string | URL,
    protocols?: string | string[] | ClientOptions,
    options?: ClientOptions,
  ) {
    if (typeof protocols === 'object' && !Array.isArray(protocols)) super(url, protocols);
    else super(url, protocols, options);
    this.on('message', (data: Buffer | ArrayBuffer) => {
      counted.received += data.byteLength;
    });
  }

  override send(...args: [data: never]): void {
    const data = args[0] as Uint8Array | string;
    counted.sent += data.length;
    super.send(...args);
  }
}
