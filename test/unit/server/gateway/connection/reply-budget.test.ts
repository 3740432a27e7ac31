/** Room for the replies of one client: taken by its updates, given back by its acknowledgements. */
import { expect, test } from 'vitest';
import { BOUNDLESS } from '../../../../support/wire.ts';
import { openByHand, turn } from '../listen/raw-socket.ts';

test.each([
  ['a fixed size', null, 800],
  ['any size', { text: 'x'.repeat(100) }, 1_100],
])(
  'results of %s: no room for one more → OVERLOADED until those before are acknowledged',
  async (_, value, max) => {
    const { gateway, store, socket } = await openByHand({
      bounds: { budget: { ...BOUNDLESS, client: max } },
    });
    store.answer = ({ sink }) => sink.view(value, 'strong');
    const retained = (): number => gateway.status().replyBytes;
    const before = retained();
    const submit = async (id: number): Promise<unknown> => {
      socket.say([id, 'submit', 'put', 'write', 2, null]);
      await turn();
      const row = socket.rows.at(-1);
      return row?.[1] === 'fail' ? row[2] : row?.[1];
    };
    expect([await submit(1), await submit(2), await submit(3)]).toEqual([
      'view',
      'view',
      'OVERLOADED',
    ]);
    expect(retained()).toBeGreaterThan(before + max / 2);
    socket.say([2, 'ack']);
    expect(retained()).toBe(before);
    expect(await submit(4)).toBe('view');
    expect(store.submitted).toHaveLength(3);
  },
);
