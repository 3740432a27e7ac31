/** Large frames are handled in two parts, so that client and server work at the same time. */
import { expect, test } from 'vitest';
import { openByHand } from '../listen/raw-socket.ts';
import { StoreDouble } from '../../../../support/wire.ts';

/** Replies only when it is told to, as a store that collects what comes together. */
class CollectingStore extends StoreDouble {
  readonly collected: (() => void)[] = [];

  constructor() {
    super();
    this.answer = ({ sink }) => this.collected.push(() => sink.view(1, 'strong'));
  }

  flush(): void {
    for (const reply of this.collected.splice(0)) reply();
  }
}

const submits = (count: number): unknown[][] =>
  Array.from({ length: count }, (_, index) => [index + 1, 'submit', 'get', 'read', 2, null]);

test.each([
  [64, 32],
  [100, 50],
  [63, 0],
])(
  'a frame of %i operations → %i have been answered when the last one begins',
  async (count, answered) => {
    const binding = new CollectingStore();
    const { socket } = await openByHand({ binding });
    const sentBefore = socket.rows.length;
    socket.say(...submits(count));
    expect(socket.rows.length - sentBefore).toBe(answered);
    expect(binding.collected).toHaveLength(count - answered);
  },
);
