/**
 * A process that runs one way of a checkout. Arguments: the address of the contenders, and the name
 * of the way. Each order is a number of operations, and the answer is the processor time of one of
 * them.
 */
import type * as Contenders from './contenders.ts';

const [, , script, name] = process.argv as [
  string,
  string,
  string,
  'callbacks' | 'awaited' | 'invoke',
];
const ways = (await import(script)) as typeof Contenders;
const strings = ways.valuesOf('string');

process.on(
  'message',
  (operations: number) => void measure(operations).then((answer) => process.send?.(answer)),
);
process.on('disconnect', () => process.exit());
process.send?.({ ready: true });

async function measure(operations: number): Promise<{ readonly usPerOp: number }> {
  const before = process.cpuUsage();
  if (name === 'invoke') await ways.invokeMemory('string', operations);
  else await ways.drive(ways[name](), strings, operations);
  const { user, system } = process.cpuUsage(before);
  return { usPerOp: (user + system) / operations };
}
