import { auditScope } from '../src/scope.ts';
import { builder } from './builder.ts';
import { idOrder, idWhere, keysetConnection } from './pagination.ts';

const AuditRecord = builder.prismaObject('AuditRecord', {
  description: 'The record of one change, written together with it.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Identifier of the record.' }),
    action: t.exposeString('action', { description: 'What happened, such as `whitelist.created`.' }),
    apiKeyId: t.exposeID('apiKeyId', { nullable: true, description: 'The key that made the change.' }),
    requestId: t.exposeString('requestId', {
      description: 'The request that made the change; the log has it too.',
    }),
    companyId: t.exposeID('companyId', {
      nullable: true,
      description: 'The company that the change belongs to.',
    }),
    locationId: t.exposeID('locationId', {
      nullable: true,
      description: 'The location that the change belongs to.',
    }),
    targetId: t.exposeID('targetId', { description: 'What changed.' }),
    changes: t.expose('changes', {
      type: 'JSON',
      nullable: true,
      description: 'The values after the change, or before and after it.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the change was made.' }),
  }),
});

const AuditRecordConnection = builder.connectionObject(
  { type: AuditRecord, name: 'AuditRecordConnection', description: 'A page of the audit log.' },
  { name: 'AuditRecordEdge', description: 'A record and its place in the list.' },
);

builder.queryField('auditLog', (t) =>
  t.connection(
    {
      type: AuditRecord,
      permission: 'ADMIN',
      description: 'The changes of what the key reaches, newest first.',
      resolve: (_, args, { key, prisma }) => {
        const where = auditScope(key);
        return keysetConnection(
          args,
          (page) => prisma.auditRecord.findMany({ where: { AND: [where, idWhere(page)] }, ...idOrder(page) }),
          () => prisma.auditRecord.count({ where }),
          { newestFirst: true },
        );
      },
    },
    AuditRecordConnection,
  ),
);
