/** Prints the bank without shadow operations, with withdrawals labeled blue, and labeled red. */
import { play, playOriginals } from './scenario.ts';

/** Plays Figures 3, 5 and 6 of RedBlue (OSDI 2012), and prints the balances. */
export async function printFigures(): Promise<void> {
  console.log('no shadow operations, each site repeats the originals:');
  console.log(`  deposit of 20 and 5 % interest at once: ${both(await playOriginals())}`);
  for (const withdrawals of ['blue', 'red'] as const) {
    const { early, paid, final } = await play(withdrawals);
    console.log(`withdrawals ${withdrawals}:`);
    console.log(`  deposit of 20 and 5 % interest at once: ${both(early)}`);
    console.log(
      `  Alice withdraws 70: ${paid[0] === true ? 'paid' : 'refused'}; Bob 60: ${paid[1] === true ? 'paid' : 'refused'}`,
    );
    console.log(`  balance: ${both(final)}`);
  }
}

function both(cents: readonly number[]): string {
  const dollars = cents.map((amount) => (amount / 100).toFixed(2));
  return `${dollars.join(' in Europe, ')} in the United States`;
}
