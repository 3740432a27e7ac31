/** ZooKeeper's four-letter words: what a server says about itself. */
import { connect } from 'node:net';
import { LOOPBACK } from '../ports.ts';

export type Mode = 'leader' | 'follower' | 'observer' | 'standalone';

const ANSWER_MS = 2_000;

/** Returns the answer to a word; empty if no server answers. */
export function ask(port: number, word: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, LOOPBACK, () => socket.write(word));
    socket.setEncoding('utf8').setTimeout(ANSWER_MS, () => socket.destroy());
    socket.on('data', (text: string) => (answer += text));
    socket.on('error', () => {}); // No server listens yet: an empty answer.
    socket.on('close', () => resolve(answer));
  });
}

/** What part the server plays; undefined while it does not serve. */
export async function modeOf(port: number): Promise<Mode | undefined> {
  return /^Mode: (\w+)$/m.exec(await ask(port, 'srvr'))?.[1] as Mode | undefined;
}
