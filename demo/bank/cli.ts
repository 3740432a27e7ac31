/** `npm run demo:bank`: the bank without shadow operations, with withdrawals labeled blue, and labeled red. */
import { play, playOriginals } from './scenario.ts';

const dollars = (cents: number): string => (cents / 100).toFixed(2);
const both = (cents: readonly number[]): string => `${cents.map(dollars).join(' in Europe, ')} in the United States`;

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
