import type { DocumentNode, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../errors/error-table.ts';
import { slotLimits } from '../scheduling/limits.ts';
import { createSlots } from '../scheduling/slots.ts';
import { yieldToEventLoop } from '../scheduling/yield.ts';
import { parseDocument, validateDocument } from './document.ts';

/**
 * A cache of GraphQL documents that clients have sent. If a document is in the cache, the gateway does not parse or
 * validate it again.
 */
export interface ClientDocuments {
  /** The cache of parsed GraphQL documents, which finds a document by its text. */
  parsed: LRUCache<string, DocumentNode>;
  /**
   * Parses and validates a GraphQL document that is not in the cache, as soon as the process has a free slot for such
   * documents. The number of slots limits how many GraphQL documents one process parses at the same time. Parsing one
   * document takes tens of milliseconds, and a client can send a new document with every request. A document with a
   * syntax error is not cached.
   */
  prepare(text: unknown, keyId: string): Promise<void>;
  /**
   * Returns the validation errors of a GraphQL document. If the cache does not contain the document, `faultsOf`
   * validates the document first.
   */
  faultsOf(document: DocumentNode): readonly ServiceError[];
}

/**
 * The maximum number of GraphQL documents in the cache `parsed`. The GraphQL executor has a second cache, which
 * contains only documents that have been executed.
 */
const maxParsedDocuments = 100;

/** Creates the cache of the GraphQL documents that clients send. */
export function createClientDocuments(schema: GraphQLSchema): ClientDocuments {
  const parsed = new LRUCache<string, DocumentNode>({ max: maxParsedDocuments });
  const faults = new WeakMap<DocumentNode, readonly ServiceError[]>();
  const slots = createSlots(slotLimits.newDocuments);
  return {
    parsed,
    async prepare(text, keyId) {
      if (typeof text !== 'string' || parsed.has(text)) return;
      await slots.run(keyId, async () => {
        if (parsed.has(text)) return;
        try {
          const document = parseDocument(text);
          await yieldToEventLoop();
          faults.set(document, validateDocument(schema, document));
          parsed.set(text, document);
        } catch (error) {
          if (!(error instanceof ServiceError)) throw error;
        }
      });
    },
    faultsOf: (document) => faults.get(document) ?? validateDocument(schema, document),
  };
}
