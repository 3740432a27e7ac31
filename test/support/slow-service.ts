/** A service whose module never finishes loading. */
process.stdout.write('loading\n');
await new Promise((resolve) => setTimeout(resolve, 600_000));

export { service } from './durable-service.ts';
