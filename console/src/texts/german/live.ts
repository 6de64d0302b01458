/** Texts of live in German. */
export const live = {
  'Copy key': 'Schlüssel kopieren',
  'Copy server': 'Server kopieren',
  'Create live stream': 'Live-Stream erstellen',
  'Delete the stream': 'Stream löschen',
  'Delete “{title}”?': '„{title}“ löschen?',
  'Delete…': 'Löschen…',
  'End the stream': 'Stream beenden',
  'End “{title}”?': '„{title}“ beenden?',
  Ended: 'Beendet',
  'In OBS: Settings, Stream, Service “Custom”; then paste server and key. Under Output choose H.264 and AAC, and a keyframe interval of 2 s.':
    'In OBS: Einstellungen, Stream, Dienst „Benutzerdefiniert“; dann Server und Schlüssel einfügen. Unter Ausgabe H.264 und AAC wählen und ein Keyframe-Intervall von 2 s.',
  'Its item': 'Sein Inhalt',
  'Live stream': 'Live-Stream',
  'Reconnect window (seconds)': 'Zeit zum Wiederverbinden (Sekunden)',
  'Reset key': 'Schlüssel erneuern',
  'Reset the key of this stream?': 'Den Schlüssel dieses Streams erneuern?',
  Server: 'Server',
  'Stream key': 'Stream-Schlüssel',
  'The encoder is cut off, and the stream cannot be started again.':
    'Der Encoder wird getrennt, und der Stream kann nicht wieder gestartet werden.',
  'The old key stops working at once: an encoder that uses it is cut off.':
    'Der alte Schlüssel gilt sofort nicht mehr: Ein Encoder, der ihn benutzt, wird getrennt.',
  'The stream and its key are gone for good. Its item is archived, with its recording.':
    'Der Stream und sein Schlüssel sind endgültig weg. Sein Inhalt wird mit der Aufnahme archiviert.',
  'The stream key is shown this once: keep it':
    'Der Stream-Schlüssel wird nur dieses Mal gezeigt: Bewahren Sie ihn auf',
  'This service takes no live streams: REELFEED_RTMP_PORT is 0.':
    'Dieser Dienst nimmt keine Live-Streams an: REELFEED_RTMP_PORT ist 0.',
  'Type “end” to confirm': 'Zur Bestätigung „end“ eingeben',
  'Waiting for an encoder at {rtmpUrl}.': 'Wartet auf einen Encoder unter {rtmpUrl}.',
  ended: 'beendet',
  'ended {endedAt}': 'beendet {endedAt}',
  idle: 'bereit',
  'started {startedAt}': 'begonnen {startedAt}',
  '{whole} s recorded': '{whole} s aufgezeichnet',
  '{whole} watching': '{whole} sehen zu',
};
