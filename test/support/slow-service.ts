/** A service whose module is never done. */
process.stdout.write('loading\n');
await new Promise((resolve) => setTimeout(resolve, 600_000));

export { service } from './durable-service.ts';
