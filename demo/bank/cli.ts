/** `npm run demo:bank`: the bank without shadow operations, with withdrawals labeled blue, and labeled red. */
import { cac } from 'cac';
import { UsageError } from '../../engines/usage-error.ts';
import { parseFlags } from '../shared/flags.ts';
import { play, playOriginals } from './scenario.ts';

const EXIT_USAGE = 2;

try {
  const cli = cac('npm run demo:bank --');
  cli.command('[...none]', 'Plays two customers of one account at two sites, three ways, and prints the balances');
  if (parseFlags(cli, process.argv.slice(2)) !== undefined) await printAll();
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(`demo:bank: ${error.message}`);
  process.exitCode = EXIT_USAGE;
}

async function printAll(): Promise<void> {
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
