/** `correctables/bindings/http`: a client of a server's `httpHandler`. */
export { http } from './http-binding.ts';
export type { HttpBindingOptions } from './options.ts';
