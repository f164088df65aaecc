// The headers: one text for all tabs, which survives a reload. GraphiQL itself keeps one for each tab.
import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

const KEY = 'upvote:headers';
const EMPTY = `{
  // the token of register or logIn:
  // "Authorization": "Bearer TOKEN"
}`;

export const headers = () => localStorage.getItem(KEY) ?? EMPTY;

export function SharedHeaders() {
  const editor = useGraphiQL((state) => state.headerEditor);
  useEffect(() => {
    if (!editor) return;
    const changes = editor.getModel().onDidChangeContent(({ isFlush }) => {
      const text = editor.getValue();
      // GraphiQL replaces the whole text for another tab, and when it is formatted
      if (isFlush && compact(text) !== compact(headers())) editor.setValue(headers());
      else localStorage.setItem(KEY, text);
    });
    return () => changes.dispose();
  }, [editor]);
}

// A text without blanks, which formatting changes.
const compact = (text) => text.replaceAll(/\s/g, '');
