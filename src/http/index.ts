/**
 * `correctables/http`: sends the views of a Correctable from any HTTP server, as NDJSON or
 * server-sent events, and reads them back as a Correctable.
 */
export { fetchViews, type FetchViewsOptions, type ViewFetcher } from './fetch-views.ts';
export {
  httpHandler,
  type HttpHandler,
  type HttpHandlerOptions,
  type NodeRequestLike,
} from './http-handler.ts';
export { toOpenApi, type OpenApiDocument, type OpenApiOptions } from './open-api.ts';
export { respondWithViews, type RespondOptions } from './respond-with-views.ts';
export { sendViews, type ServerResponseLike } from './send-views.ts';
export {
  createHttpSession,
  formatSessionCookie,
  readSessionTokens,
  SESSION_HEADER,
  type ConnectionLike,
  type HttpSession,
  type RequestLike,
  type SessionCookieOptions,
} from './session-tokens.ts';
export type { ViewFormat } from './view-message.ts';
