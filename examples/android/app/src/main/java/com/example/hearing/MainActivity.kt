package com.example.hearing

import android.app.Activity
import android.media.AudioFormat
import android.media.AudioRecord
import android.media.MediaRecorder
import android.os.Bundle
import android.widget.TextView
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.milliseconds
import ounce.app.Call
import ounce.app.OunceException
import ounce.app.Session
import ounce.app.floats
import ounce.app.isTimeout
import ounce.app.loadOptions
import ounce.app.run

/** Records audio, and shows the recognized word of each second. */
class MainActivity : Activity() {
    private lateinit var session: Session
    @Volatile private var isListening = false

    override fun onCreate(state: Bundle?) {
        super.onCreate(state)
        val view = TextView(this)
        setContentView(view)
        val model = assets.openFd("hearing.onnx")
        // The model's metadata define the audio preprocessing; models without it are rejected.
        session = Session.load(
            model.parcelFileDescriptor.fd, model.startOffset, model.length,
            loadOptions { cache = cacheDir.path; requiresContract = true },
        )
        isListening = true
        thread { session.call(1).use { call -> listen(call) { word -> runOnUiThread { view.text = word } } } }
    }

    private fun listen(call: Call, show: (String) -> Unit) {
        val microphone = AudioRecord(
            MediaRecorder.AudioSource.MIC, RATE, AudioFormat.CHANNEL_IN_MONO, AudioFormat.ENCODING_PCM_16BIT, 4 * RATE,
        )
        microphone.startRecording()
        val second = ShortArray(RATE)
        while (isListening && microphone.read(second, 0, RATE) == RATE) {
            try {
                call.setSound(null, 0, second, 1, RATE.toDouble())
                call.run(100.milliseconds)
                val scores = call.floats()
                show("word ${scores.indices.maxByOrNull { scores[it] }}")
            } catch (failure: OunceException) {
                show(if (failure.isTimeout) "too slow" else failure.message ?: "failed")
            }
        }
        microphone.release()
    }

    override fun onDestroy() {
        isListening = false
        session.close()
        super.onDestroy()
    }

    private companion object {
        const val RATE = 8000
    }
}
